"""The pages: one router a file, each listed here."""

from fastapi import APIRouter

PAGES: tuple[APIRouter, ...] = ()
