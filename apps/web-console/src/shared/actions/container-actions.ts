import { t } from '@lingui/core/macro';
import type { ContainerView } from '@headgate/api-contracts';
import { extensionPath } from '../api/instance-path.js';
import type { Action } from './action.js';
import { folderActions } from './folder-actions.js';
import { instanceRequest } from './api-request.js';
import { perLanguage } from '../texts/per-language.js';

/** All actions on a container, in the order of its menu. */
export const containerActions = perLanguage(
  () =>
    ({
      start: {
        id: 'start',
        label: t`Start`,
        icon: 'play',
        effect: 'none',
        ability: 'containers',
        refusal: ({ phase }) => (phase === 'Stopped' ? undefined : t`It is not stopped.`),
        request: (ct) => instanceRequest('cts', ct, 'start'),
        done: t`is starting`,
        inverse: 'stop',
        bulk: { request: () => ({ action: 'start' }), inverse: 'stop' },
      },
      stop: {
        id: 'stop',
        label: t`Stop`,
        icon: 'power',
        effect: 'interrupts',
        ability: 'containers',
        refusal: ({ phase }) => (phase === 'Stopped' ? t`It is already stopped.` : undefined),
        request: (ct) => instanceRequest('cts', ct, 'stop'),
        done: t`is stopping`,
        consequence: t`The processes of the container are ended. Its data volume is kept.`,
        inverse: 'start',
        bulk: {
          request: () => ({ action: 'stop' }),
          warning: t`The processes of the containers are ended. Their data volumes are kept.`,
          inverse: 'start',
        },
      },
      move: {
        id: 'move',
        label: t`Move`,
        icon: 'migrate',
        effect: 'interrupts',
        ability: 'containerTransfer',
        refusal: () => undefined,
        done: t`is moving`,
        consequence: t`The container is stopped while it is copied to another context.`,
      },
      clone: {
        id: 'clone',
        label: t`Clone`,
        icon: 'copy',
        effect: 'none',
        ability: 'cloning',
        use: 'copy',
        refusal: () => undefined,
        done: t`is being cloned`,
      },
      snapshot: {
        id: 'snapshot',
        label: t`Snapshot`,
        icon: 'camera',
        effect: 'none',
        ability: 'snapshots',
        refusal: () => undefined,
        request: (ct) => ({
          method: 'POST',
          path: `${extensionPath(ct, 'cts')}/snapshots`,
          query: { context: ct.context },
          body: {},
        }),
        done: t`has a new snapshot`,
      },
      ...folderActions<ContainerView>({
        folder: () => undefined,
        unfolder: ({ folder }) => (folder === undefined ? t`It is in no folder.` : undefined),
      }),
      delete: {
        id: 'delete',
        label: t`Delete`,
        icon: 'trash',
        effect: 'destroys',
        ability: 'containers',
        refusal: () => undefined,
        request: (ct) => instanceRequest('cts', ct, undefined),
        done: t`was deleted`,
        consequence: t`Its data volume is deleted with it.`,
        bulk: { request: () => ({ action: 'delete' }), warning: t`Their data volumes are deleted with them.` },
      },
    }) as const satisfies Readonly<
      Record<'start' | 'stop' | 'move' | 'clone' | 'snapshot' | 'folder' | 'unfolder' | 'delete', Action<ContainerView>>
    >,
);
