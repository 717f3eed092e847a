"""The pages: one router a file, each listed here."""

from fastapi import APIRouter

from opspilot.web.pages import ask, endpoints, inbox, numbers, questions, results, session, sessions, steering, waiting

PAGES: tuple[APIRouter, ...] = (
    inbox.router,
    questions.router,
    sessions.router,
    ask.router,
    numbers.router,
    endpoints.router,
    session.router,
    results.router,
    steering.router,
    waiting.router,
)
