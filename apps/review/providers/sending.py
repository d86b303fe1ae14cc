"""A message to its channel: by mail, to a Slack-compatible webhook, or signed to any other."""

import hashlib
import hmac
import json
import smtplib
import time
from collections.abc import Mapping
from datetime import datetime

from django.conf import settings
from django.core.mail import EmailMultiAlternatives

from apps.review.queries.channels import MAIL, SLACK
from apps.review.queries.message_text import OutgoingMessage
from apps.web.outgoing import PostOutcome, post

NO_MAIL = "mail is not set up: RUNRATE_MAIL_URL names no server"


def send_message(message: OutgoingMessage, at: datetime) -> PostOutcome:
    """Try once; what comes of it is said in words without any address. Never raises for a far end that fails."""
    if message.kind == MAIL:
        return _send_mail(message)
    is_slack = message.kind == SLACK
    payload = message.text.slack if is_slack else message.text.body
    body = json.dumps(payload, ensure_ascii=False).encode()
    headers = {} if is_slack else signed_headers(message, body, at)
    return post(message.address, body, headers, settings.WEBHOOK_NETWORKS)


def signed_headers(message: OutgoingMessage, body: bytes, at: datetime) -> Mapping[str, str]:
    """Return the headers that prove where a body is from, and when: HMAC-SHA256 of `timestamp.body`."""
    timestamp = str(int(at.timestamp()))
    signed = hmac.new(message.key.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return {
        "Runrate-Message": str(message.id),
        "Runrate-Timestamp": timestamp,
        "Runrate-Signature": f"v1={signed.hexdigest()}",
    }


def mail_of(message: OutgoingMessage) -> EmailMultiAlternatives:
    """The message as a mail: plain text, and HTML beside it."""
    mail = EmailMultiAlternatives(
        f"Runrate: {message.text.subject}",
        message.text.plain,
        settings.DEFAULT_FROM_EMAIL,
        [part.strip() for part in message.address.split(",")],
    )
    mail.attach_alternative(message.text.html, "text/html")
    return mail


def _send_mail(message: OutgoingMessage) -> PostOutcome:
    if not settings.MAIL_IS_SET:
        return PostOutcome(is_sent=False, said=NO_MAIL, milliseconds=0)
    began = time.monotonic()
    try:
        mail_of(message).send()
        is_sent, outcome = True, "taken by the mail server"
    except smtplib.SMTPResponseException as refused:
        is_sent, outcome = False, f"refused by the mail server: {refused.smtp_code}"
    except smtplib.SMTPRecipientsRefused:
        is_sent, outcome = False, "refused by the mail server: no address was taken"
    except (smtplib.SMTPException, OSError) as failed:
        is_sent, outcome = False, f"no answer of the mail server: {type(failed).__name__}"
    return PostOutcome(is_sent, outcome, round((time.monotonic() - began) * 1000))
