import { apiError, deepCopy, type HttpSubresourceHandler } from '@headgate/kube-sandbox';
import { completeMigration, refuseMigration } from '../admission/migration-admission.js';
import { expandedSpec } from '../machines/instancetype-expansion.js';
import { isFinal } from '../machines/printable-status.js';
import { RESOURCES } from '../resources.js';
import type { Migration } from '../types/kubevirt-kinds.js';
import type { SimulationContext } from '../simulation-context.js';
import { restartVm, startVm, stopVm } from './power-actions.js';
import {
  ACCEPTED,
  ACTION_ROUTE,
  isDryRun,
  optionsOf,
  requireVm,
  SUBRESOURCES,
  requireVmi,
  vmConflict,
} from './subresource-support.js';
import { addVolumeToVm, removeVolumeFromVm } from './volume-actions.js';

/** Subresources of VirtualMachine. */
export function registerMachineSubresources(context: SimulationContext): void {
  const put = (subresource: string, handle: HttpSubresourceHandler): void =>
    context.subresources.handle(
      { group: SUBRESOURCES, resource: 'virtualmachines', subresource },
      ['PUT'],
      handle,
      ACTION_ROUTE,
    );
  const accept =
    (act: (request: Parameters<HttpSubresourceHandler>[0]) => void): HttpSubresourceHandler =>
    (request) => {
      act(request);
      return ACCEPTED;
    };
  put(
    'start',
    accept((request) => startVm(context, request, optionsOf(request.body))),
  );
  put(
    'stop',
    accept((request) => stopVm(context, request, optionsOf(request.body))),
  );
  put(
    'restart',
    accept((request) => restartVm(context, request, optionsOf(request.body))),
  );
  put(
    'migrate',
    accept((request) => migrate(context, request, request.body)),
  );
  put(
    'addvolume',
    accept((request) => addVolumeToVm(context, request, request.body)),
  );
  put(
    'removevolume',
    accept((request) => removeVolumeFromVm(context, request, request.body)),
  );
  context.subresources.handle(
    { group: SUBRESOURCES, resource: 'virtualmachines', subresource: 'expand-spec' },
    ['GET'],
    (request) => {
      const vm = deepCopy(requireVm(context, request));
      vm.spec.template.spec = expandedSpec(context, vm);
      delete vm.spec.instancetype;
      delete vm.spec.preference;
      return { code: 200, body: vm };
    },
  );
}

interface MigrateOptions {
  addedNodeSelector?: Record<string, string>;
}

function migrate(context: SimulationContext, asked: { namespace?: string; name: string }, body: unknown): void {
  requireVm(context, asked);
  const vmi = requireVmi(context, asked);
  if (isFinal(vmi) || vmi.status?.phase !== 'Running') throw vmConflict(asked.name, 'VM is not running');
  const options = optionsOf<MigrateOptions>(body);
  const migration: Migration = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceMigration',
    metadata: { name: '', generateName: 'kubevirt-migrate-vm-', namespace: asked.namespace },
    spec: {
      vmiName: asked.name,
      ...(options.addedNodeSelector && context.release.since('1.6')
        ? { addedNodeSelector: options.addedNodeSelector }
        : {}),
    },
  };
  completeMigration(migration);
  try {
    refuseMigration(context, migration);
  } catch (error) {
    // virt-api wraps the webhook's refusal.
    throw apiError(500, 'InternalError', `Internal error occurred: ${(error as Error).message}`);
  }
  context.store.create(RESOURCES.migration, migration, { dryRun: isDryRun(options) });
}
