"""Networks: what they are made of, and two ways to compute them."""
