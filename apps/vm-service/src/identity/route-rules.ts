import type { AccessAction, InstanceKind } from '@headgate/domain-contracts';

/** What a route needs of a caller with an API token or with roles. */
export type RouteRule =
  /** Contains no data of instances. */
  | { readonly needs: 'nothing' }
  /** Data that belongs to no instance. */
  | { readonly needs: 'shared' }
  /** The route itself leaves out, or refuses, what the caller's grant does not allow. */
  | { readonly needs: 'filter' }
  /**
   * The instance of the path. `all`: in addition, an action on everything; with `field`, only if the body has a value there, such as a
   * volume that may be of anyone.
   */
  | {
      readonly needs: 'instance';
      readonly kind: InstanceKind;
      readonly action: AccessAction;
      readonly all?: AccessAction;
      readonly field?: string;
    }
  /** The instance that the field `ref` of the body names. */
  | { readonly needs: 'ref'; readonly action: AccessAction }
  /** The folders at these fields of the body or the query, and with `ref` also the instance in it. */
  | { readonly needs: 'folder'; readonly action: AccessAction; readonly fields: readonly string[]; readonly ref?: true }
  /** Every instance, and the service itself. */
  | { readonly needs: 'all'; readonly action: AccessAction };

const nothing: RouteRule = { needs: 'nothing' };
const shared: RouteRule = { needs: 'shared' };
const filter: RouteRule = { needs: 'filter' };
const all = (action: AccessAction): RouteRule => ({ needs: 'all', action });
const vm = (action: AccessAction, also?: AccessAction, field?: string): RouteRule => ({
  needs: 'instance',
  kind: 'vm',
  action,
  ...(also ? { all: also } : {}),
  ...(field ? { field } : {}),
});
const ct = (action: AccessAction): RouteRule => ({ needs: 'instance', kind: 'ct', action });
const ref = (action: AccessAction): RouteRule => ({ needs: 'ref', action });
const folder = (action: AccessAction, ...fields: string[]): RouteRule => ({ needs: 'folder', action, fields });

/**
 * The rule of every route. A route without a rule is refused to callers with an API token or with roles, and
 * `every-route.spec.ts` fails for it.
 */
export const ROUTE_RULES: Readonly<Record<string, RouteRule>> = {
  'GET /': nothing,
  'GET /app.js': nothing,
  'GET /style.css': nothing,
  'GET /icons.js': nothing,
  'GET /healthz': nothing,
  'GET /readyz': nothing,
  'GET /metrics': all('read'),

  'GET /api/whoami': nothing,
  'GET /api/capabilities': shared,
  'GET /api/nodes': shared,
  'GET /api/instancetypes': shared,
  'GET /api/nads': shared,
  'GET /api/images': shared,
  'GET /api/sources': shared,
  'POST /api/sources': all('manage'),
  'DELETE /api/sources/:name': all('manage'),
  'GET /api/datavolumes': shared,
  'POST /api/datavolumes': all('create'),
  'DELETE /api/datavolumes/:ns/:name': all('delete'),
  'GET /api/doctor': all('read'),
  'POST /api/doctor/fix': all('manage'),

  'GET /api/vms': filter,
  'POST /api/vms': all('create'),
  'GET /api/vms/:ns/:name': vm('read'),
  'DELETE /api/vms/:ns/:name': vm('delete'),
  'GET /api/vms/:ns/:name/events': vm('read'),
  'GET /api/vms/:ns/:name/guestinfo': vm('read'),
  'GET /api/vms/:ns/:name/metrics': vm('read'),
  'GET /api/vms/:ns/:name/metrics/history': vm('read'),
  'GET /api/vms/:ns/:name/export': vm('export'),
  'POST /api/vms/:ns/:name/:action': vm('power'),
  // On libvirt, a node is another context, where a token or a role may allow nothing.
  'POST /api/vms/:ns/:name/migrate': vm('change', 'change'),
  'POST /api/vms/:ns/:name/tags': vm('change'),
  'POST /api/vms/:ns/:name/scale': vm('change'),
  'POST /api/vms/:ns/:name/expand': vm('change'),
  'POST /api/vms/:ns/:name/volumes': vm('change', 'change', 'pvc'),
  'DELETE /api/vms/:ns/:name/volumes/:vol': vm('change'),
  'POST /api/vms/:ns/:name/nics': vm('change'),
  'GET /api/vms/:ns/:name/snapshots': vm('read'),
  'POST /api/vms/:ns/:name/snapshots': vm('change'),
  'DELETE /api/vms/:ns/:name/snapshots/:snap': vm('change'),
  'POST /api/vms/:ns/:name/snapshots/:snap/restore': vm('change'),
  // The copy is in no folder, and its disk has everything that is on the source's.
  'POST /api/vms/:ns/:name/clone': vm('change', 'create'),
  'POST /api/vms/:ns/:name/template': vm('change'),

  'GET /api/ext/vms/:ns/:name/hardware': vm('read'),
  'POST /api/ext/vms/:ns/:name/nics/:iface': vm('change'),
  'POST /api/ext/vms/:ns/:name/volumes/:vol/move': vm('change'),
  'DELETE /api/ext/vms/:ns/:name/nics/:iface': vm('change'),
  'POST /api/ext/vms/:ns/:name/drives/:drive': vm('change', 'change', 'pvc'),
  'POST /api/ext/vms/:ns/:name/boot-order': vm('change'),
  'POST /api/ext/vms/:ns/:name/autostart': vm('change'),
  // CPUs, memory and devices of the host are taken from other VMs, or from the host itself.
  'POST /api/ext/vms/:ns/:name/placement': vm('change', 'manage'),
  'POST /api/ext/vms/:ns/:name/devices': vm('change', 'manage'),
  'DELETE /api/ext/vms/:ns/:name/devices/:device': vm('change', 'manage'),
  'GET /api/ext/host-resources': all('manage'),
  'GET /api/ext/vms/:ns/:name/checkpoints': vm('read'),
  'DELETE /api/ext/vms/:ns/:name/checkpoints/:checkpoint': vm('change'),
  'POST /api/ext/guest/password': ref('guest'),
  'POST /api/ext/guest/command': ref('guest'),

  'GET /api/cts': filter,
  'POST /api/cts': all('create'),
  'POST /api/cts/:ns/:name/:action': ct('power'),
  'DELETE /api/cts/:ns/:name': ct('delete'),

  'GET /api/folders': filter,
  'POST /api/folders': folder('change', 'path'),
  // Its members are in no folder afterwards, where other rights hold.
  'DELETE /api/folders': all('change'),
  'POST /api/folders/move': folder('change', 'from', 'to'),
  'POST /api/folders/members': { needs: 'folder', action: 'change', fields: ['path'], ref: true },
  'DELETE /api/folders/members': all('change'),
  'POST /api/folders/action': folder('power', 'path'),

  'GET /api/tasks': filter,
  'GET /api/tasks/:id': filter,
  'DELETE /api/tasks/:id': all('change'),
  'POST /api/ext/bulk': filter,
  'POST /api/ext/bulk/:task/retry': all('change'),
  'POST /api/ext/bulk/:task/cancel': all('change'),
  'POST /api/ext/bulk/:task/pause': all('change'),
  'POST /api/ext/bulk/:task/resume': all('change'),

  // A move leads to another context, and may delete the source.
  'GET /api/move/destinations': all('read'),
  'POST /api/move/preflight': all('change'),
  'POST /api/move': all('change'),

  'GET /api/plugins': shared,
  'POST /api/plugins/:name/install': all('manage'),
  'DELETE /api/plugins/:name': all('manage'),

  'GET /api/ext/tokens': all('manage'),
  'POST /api/ext/tokens': all('manage'),
  'DELETE /api/ext/tokens/:id': all('manage'),
  'GET /api/ext/journal': all('manage'),
  'GET /api/ext/webhooks': all('manage'),
  'POST /api/ext/webhooks': all('manage'),
  'DELETE /api/ext/webhooks/:id': all('manage'),
  'POST /api/ext/webhooks/:id/replay': all('manage'),
};
