"""Uses a client that was generated from the API document: lists the VMs, starts two, and reads the task of the second."""

import json
import sys

from headgate_client import Client
from headgate_client.api.bulk import bulk_start
from headgate_client.api.tasks import tasks_one
from headgate_client.api.vms import vms_act, vms_list
from headgate_client.models import (
    AcceptedView,
    BulkDto,
    BulkDtoAction,
    ErrorView,
    StatusView,
    TaskView,
    TaskViewStatus,
    VmsActAction,
    VmViewStatus,
)

client = Client(base_url=sys.argv[1])
vms = vms_list.sync(client=client, limit=100)
assert isinstance(vms, list), vms
first, second = [vm for vm in vms if vm.status == VmViewStatus.STOPPED and not vm.is_template][:2]

outcome = vms_act.sync(first.namespace, first.name, VmsActAction.START, client=client, context=first.context)
assert isinstance(outcome, StatusView), outcome

accepted = bulk_start.sync(client=client, body=BulkDto(action=BulkDtoAction.START, refs=[second.ref]))
assert isinstance(accepted, AcceptedView), accepted
task = tasks_one.sync(accepted.task, client=client)
while isinstance(task, TaskView) and task.status == TaskViewStatus.RUNNING:
    task = tasks_one.sync(accepted.task, client=client)
assert isinstance(task, TaskView), task

missing = tasks_one.sync("none", client=client)
assert isinstance(missing, ErrorView), missing

result = {
    "vms": len(vms),
    "started": first.ref,
    "outcome": outcome.status,
    "task": task.status.value,
    "member": task.members[0].ref,
    "expected": second.ref,
    "code": missing.code.value,
}
print(json.dumps(result))
