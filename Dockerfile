# Garrison on a processor, for a user who is not root: docker build --tag garrison . && docker run --rm garrison evaluate record
# Versions are those of the reference environment; the extra index has PyTorch without GPU libraries.
FROM python:3.11-slim

RUN useradd --create-home --uid 1000 garrison
RUN --mount=type=bind,target=/source \
    cp -r /source /tmp/garrison \
    && cd /tmp/garrison \
    && pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu \
       --constraint requirements/reference.txt '.[train,report]' \
    && rm -rf /tmp/garrison

USER garrison
WORKDIR /home/garrison
ENTRYPOINT ["garrison"]
CMD ["--help"]
