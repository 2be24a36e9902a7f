import { t } from '@lingui/core/macro';
import type { VmView } from '@headgate/api-contracts';
import { tagProblem } from '../names/name-rule.js';
import type { Action, ActionId } from './action.js';
import { folderActions } from './folder-actions.js';
import { instanceRequest } from './api-request.js';
import { vmRefusals } from './vm-refusals.js';
import { perLanguage } from '../texts/per-language.js';

type VmAction = Action<VmView>;

const power = (
  id: 'start' | 'stop' | 'restart' | 'pause' | 'unpause',
  action: Pick<VmAction, 'label' | 'icon' | 'effect' | 'done' | 'consequence' | 'inverse' | 'key'> & {
    readonly warning?: string;
    readonly inMenu?: true;
  },
): VmAction => {
  const { warning, inMenu, ...rest } = action;
  return {
    id,
    ability: 'power',
    ...rest,
    refusal: vmRefusals[id],
    request: (vm) => instanceRequest('vms', vm, id),
    bulk: {
      request: () => ({ action: id }),
      ...(warning !== undefined && { warning }),
      ...(inMenu && { inMenu }),
      ...(rest.inverse && { inverse: rest.inverse }),
    },
  };
};

/** All actions on a VM, in the order of its menu. */
export const vmActions = perLanguage(
  () =>
    ({
      start: power('start', {
        label: t`Start`,
        icon: 'play',
        effect: 'none',
        done: t`is starting`,
        inverse: 'stop',
      }),
      stop: power('stop', {
        label: t`Shut down`,
        icon: 'power',
        effect: 'interrupts',
        done: t`is shutting down`,
        consequence: t`The guest operating system is asked to shut down. Users of the VM will be disconnected.`,
        inverse: 'start',
        warning: t`The guest operating systems are asked to shut down. Users of the VMs will be disconnected.`,
      }),
      restart: power('restart', {
        label: t`Restart`,
        icon: 'restart',
        key: 'r',
        effect: 'interrupts',
        done: t`is restarting`,
        consequence: t`The guest operating system is asked to restart. Users of the VM will be disconnected until it is back.`,
        warning: t`The guest operating systems are asked to restart. Users of the VMs will be disconnected until they are back.`,
      }),
      pause: power('pause', {
        label: t`Pause`,
        icon: 'pause',
        effect: 'interrupts',
        done: t`is paused`,
        consequence: t`The guest is frozen and does not respond until it is resumed. Its memory is kept.`,
        inverse: 'unpause',
        warning: t`The guests are frozen and do not respond until they are resumed. Their memory is kept.`,
        inMenu: true,
      }),
      unpause: power('unpause', {
        label: t`Resume`,
        icon: 'play',
        effect: 'none',
        done: t`is running again`,
        inverse: 'pause',
        inMenu: true,
      }),
      'force-stop': {
        id: 'force-stop',
        label: t`Force stop`,
        icon: 'plug',
        // Data that the guest has not written to disk is lost.
        effect: 'destroys',
        ability: 'power',
        refusal: vmRefusals['force-stop'],
        request: (vm) => instanceRequest('vms', vm, 'stop', { query: { force: true } }),
        done: t`was powered off`,
        consequence: t`This is like pulling the plug: data that the guest has not written to disk is lost. Use "Shut down" to stop the VM cleanly.`,
        inverse: 'start',
        bulk: {
          request: () => ({ action: 'stop', force: true }),
          warning: t`This is like pulling the plug: data that the guests have not written to disk is lost.`,
        },
      },
      migrate: {
        id: 'migrate',
        label: t`Migrate`,
        icon: 'migrate',
        // The guest keeps running. The user still chooses the node.
        effect: 'none',
        ability: 'migration',
        refusal: vmRefusals.migrate,
        done: t`is migrating`,
        bulk: {
          request: () => ({ action: 'migrate' }),
          warning: t`The scheduler chooses the target nodes. See Tasks for the progress.`,
          inMenu: true,
        },
      },
      move: {
        id: 'move',
        label: t`Move`,
        icon: 'migrate',
        effect: 'interrupts',
        ability: 'provisioning',
        refusal: vmRefusals.move,
        done: t`is moving`,
        consequence: t`The VM is stopped while it is copied to another context.`,
      },
      clone: {
        id: 'clone',
        label: t`Clone`,
        icon: 'copy',
        effect: 'none',
        ability: 'cloning',
        use: 'copy',
        refusal: vmRefusals.clone,
        done: t`is being cloned`,
      },
      snapshot: {
        id: 'snapshot',
        label: t`Snapshot`,
        icon: 'camera',
        effect: 'none',
        ability: 'snapshots',
        refusal: vmRefusals.snapshot,
        request: (vm) => instanceRequest('vms', vm, 'snapshots', { body: {} }),
        done: t`has a new snapshot`,
      },
      tag: tagging('tag', 'untag'),
      untag: tagging('untag', 'tag'),
      ...folderActions(vmRefusals),
      delete: {
        id: 'delete',
        label: t`Delete`,
        icon: 'trash',
        effect: 'destroys',
        ability: 'provisioning',
        refusal: vmRefusals.delete,
        request: (vm) => instanceRequest('vms', vm, undefined),
        done: t`was deleted`,
        consequence: t`Its disks and snapshots are deleted with it.`,
        bulk: {
          request: () => ({ action: 'delete' }),
          warning: t`Their disks and snapshots are deleted with them. Running VMs are powered off.`,
        },
      },
    }) as const satisfies Readonly<Record<ActionId, VmAction>>,
);

function tagging(id: 'tag' | 'untag', inverse: ActionId): VmAction {
  const on = id === 'tag';
  return {
    id,
    label: on ? t`Add tag` : t`Remove tag`,
    icon: on ? 'plus' : 'cross',
    effect: 'none',
    ability: 'provisioning',
    refusal: vmRefusals[id],
    done: on ? t`has the tag` : t`lost the tag`,
    inverse,
    bulk: {
      request: (tag) => ({ action: id, tag }),
      inMenu: true,
      submit: (count) => (on ? t`Add tag to ${count}` : t`Remove tag from ${count}`),
      input: { label: t`Tag`, type: 'text', problem: tagProblem },
      inverse,
    },
  };
}
