import { t } from '@lingui/core/macro';
import type { VmView } from '@headgate/api-contracts';
import { statusWords } from '../ui/status-tone.js';
import type { ActionId } from './action.js';

type Refusal = (vm: VmView) => string | undefined;

const STATUSES_WITHOUT_GUEST: readonly VmView['status'][] = [
  'Stopped',
  'Provisioning',
  'WaitingForVolumeBinding',
  'Terminating',
];
const hasGuest = ({ status }: VmView): boolean => !STATUSES_WITHOUT_GUEST.includes(status);

const existing =
  (refusal: Refusal): Refusal =>
  (vm) =>
    vm.status === 'Terminating' ? t`It is being deleted.` : refusal(vm);

const withDisk = (refusal: Refusal): Refusal =>
  existing((vm) => (vm.status === 'Provisioning' ? t`Its disk is still being created.` : refusal(vm)));

/** The reason that the service gives as well. */
const templateRefusal = ({ name }: VmView): string =>
  t`${name} is a template: clone it and start the clone, or remove the template mark first.`;

const always = existing(() => undefined);

/** Why the state of a VM does not allow an action, from its entry in the list alone. */
export const vmRefusals: Readonly<Record<ActionId, Refusal>> = {
  start: withDisk((vm) => {
    if (hasGuest(vm)) return t`Only a stopped VM can be started. Its state is "${statusWords(vm.status)}".`;
    return vm.isTemplate ? templateRefusal(vm) : undefined;
  }),
  stop: withDisk((vm) => {
    if (!hasGuest(vm)) return t`It is already stopped.`;
    return vm.status === 'Stopping' ? t`It is already shutting down.` : undefined;
  }),
  'force-stop': withDisk((vm) => (hasGuest(vm) ? undefined : t`It is already stopped.`)),
  restart: withDisk((vm) =>
    hasGuest(vm) && vm.status !== 'Stopping' ? undefined : t`Only a running VM can be restarted.`,
  ),
  pause: withDisk(({ status }) => (status === 'Running' ? undefined : t`Only a running VM can be paused.`)),
  unpause: withDisk(({ status }) => (status === 'Paused' ? undefined : t`It is not paused.`)),
  migrate: withDisk(({ status, liveMigratable }) => {
    if (status !== 'Running') return t`Only a running VM can be migrated.`;
    return liveMigratable ? undefined : t`This VM does not support live migration.`;
  }),
  move: withDisk(() => undefined),
  clone: withDisk(({ running }) => (running ? t`Stop the VM to clone it.` : undefined)),
  snapshot: withDisk(() => undefined),
  tag: always,
  untag: always,
  folder: always,
  unfolder: existing(({ folder }) => (folder === undefined ? t`It is in no folder.` : undefined)),
  delete: always,
};
