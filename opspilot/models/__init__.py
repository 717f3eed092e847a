"""Model adapters: each turns our conversation into one provider's wire format and its reply back."""
