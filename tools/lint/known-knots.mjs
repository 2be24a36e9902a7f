/**
 * Folders, and files next to folders, that import each other in a circle. This list only gets shorter.
 *
 * @type {readonly (readonly string[])[]}
 */
export const KNOWN_KNOTS = [
  knot(
    'apps/vm-service/src',
    'access',
    'bulk',
    'cluster',
    'composition',
    'containers',
    'fleet/event-streams.ts',
    'fleet/fleet.module.ts',
    'fleet/list-reader.ts',
    'folders',
    'identity',
    'images',
    'instances',
    'metrics',
    'platform',
    'plugins/plugins.controller.ts',
    'plugins/plugins.module.ts',
    'store/registry-readiness.ts',
    'store/store.module.ts',
    'tasks/tasks.controller.ts',
    'tasks/tasks.module.ts',
  ),
  knot('apps/web-console/src/features/fleet', 'components', 'use-vm-operations.ts'),
  knot('apps/web-console/src/shared', 'fleet', 'names', 'queries'),
];

function knot(parent, ...rooms) {
  return rooms.map((room) => `${parent}/${room}`);
}
