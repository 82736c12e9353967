"""Writes that wait until a person allows them."""

from __future__ import annotations

from kalends_api.models import Approval


class ApprovalPending(Exception):
    """A write waits for a person's approval, and nothing has been done yet."""

    def __init__(self, approval: Approval) -> None:
        self.approval = approval
        super().__init__(f"the write waits for approval: {approval.id}")
