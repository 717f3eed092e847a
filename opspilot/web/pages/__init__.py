"""The pages: one router a file, each listed here."""

from fastapi import APIRouter

from opspilot.web.pages import inbox, questions

PAGES: tuple[APIRouter, ...] = (inbox.router, questions.router)
