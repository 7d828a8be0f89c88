"""What else stops the delete of a resource that was removed from git, without a guard (`delete_guards`).

A guard keeps a resource to protect it or others. These stop a delete because of what the run is, may do or gets from
Azure, wherever that is decided; so this is a list for people (`gitsync explain deletes`), and decides nothing.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from gitsync.planning.delete_guards import Moment


class DeleteStop(NamedTuple):
    """One reason."""

    name: str  # for people
    moment: Moment
    stops: str  # what is not deleted, as a sentence for people
    decided_by: str  # the function that decides it, by its dotted name below `gitsync`


DELETE_STOPS: Final = (
    DeleteStop(
        "refused run",
        Moment.PLAN,
        "Every resource of a run that is refused, as with more deletes than --max-deletes.",
        "agent.run.guards.refuse",
    ),
    DeleteStop(
        "not selected",
        Moment.PLAN,
        "A resource outside of --only, of the target namespaces, or of the single file that the run reads.",
        "agent.run.run_plan.plan_run",
    ),
    DeleteStop(
        "policy",
        Moment.PLAN,
        "A resource whose last reconcile policy is skip or detach-on-delete. It is forgotten.",
        "planning.planner._make_prune",
    ),
    DeleteStop(
        "not ours",
        Moment.PLAN,
        "A resource that gitsync neither created nor adopted. It is forgotten.",
        "planning.planner._make_prune",
    ),
    DeleteStop(
        "other manifest",
        Moment.PLAN,
        "A resource that another manifest declares under another name. The old record is forgotten.",
        "planning.planner._make_prune",
    ),
    DeleteStop(
        "unit that does not prune",
        Moment.PLAN,
        "A resource of a Flux or Argo CD object that is suspended or does not prune. It is forgotten.",
        "agent.run.removals._restrict",
    ),
    DeleteStop(
        "adopted in Entra ID",
        Moment.PLAN,
        "A group or an application that existed before gitsync. It is forgotten.",
        "agent.run.run_plan._keep_adopted",
    ),
    DeleteStop(
        "other agent",
        Moment.DELETE,
        "A resource whose record belongs to another agent.",
        "agent.reconcile.stages.prune.check_prune",
    ),
    DeleteStop(
        "no --prune",
        Moment.DELETE,
        "Every resource: a run deletes nothing without it.",
        "agent.reconcile.stages.prune.check_prune",
    ),
    DeleteStop(
        "out of reach",
        Moment.DELETE,
        "A resource that is not in the subscription of its credential, or whose credential cannot be used.",
        "agent.reconcile.stages.prune.check_prune",
    ),
    DeleteStop(
        "unreadable",
        Moment.DELETE,
        "A resource that cannot be read right before. It is unknown, never absent.",
        "agent.reconcile.reconcile._break_off",
    ),
    DeleteStop(
        "in progress",
        Moment.DELETE,
        "A resource on which Azure still works when its time is up.",
        "agent.reconcile.stages.prune.observe_prune",
    ),
    DeleteStop(
        "own identity",
        Moment.DELETE,
        "What belongs to the identity that the run itself has, unless --only names it.",
        "agent.reconcile.stages.own_identity_check.check_own_delete",
    ),
    DeleteStop(
        "outdated review",
        Moment.DELETE,
        "A resource that changed in Azure since the plan of --plan was made.",
        "agent.reconcile.stages.write_guards.review_prune",
    ),
    DeleteStop(
        "check",
        Moment.DELETE,
        "A resource whose delete Azure would refuse, as a check of the sync found.",
        "agent.reconcile.stages.change_checks.check_delete",
    ),
    DeleteStop(
        "refused by Azure",
        Moment.DELETE,
        "A resource whose delete Azure refuses: with 403, 405 or 409, or because of a lock that is not in git.",
        "agent.reconcile.stages.delete.delete",
    ),
    DeleteStop(
        "not reached",
        Moment.DELETE,
        "A resource whose turn did not come before the run was stopped or its time was up.",
        "agent.reconcile.result_builder.build_unattempted",
    ),
)
"""Every such reason: by moment, and then in the order in which they are decided."""
