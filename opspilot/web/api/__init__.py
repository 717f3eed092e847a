"""The JSON API: one router a file, listed in opspilot/web/app.py; each route says by a type who may use it."""
