"""The sections of the settings, one file each. They read nothing: `opspilot.settings` composes and fills them."""
