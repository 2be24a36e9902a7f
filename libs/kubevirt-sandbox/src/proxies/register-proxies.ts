import { badRequest, type KubeObject } from '@headgate/kube-sandbox';
import { ExportController } from '../controllers/snapshots/export-controller.js';
import type { DataVolumeController } from '../controllers/storage/data-volume-controller.js';
import { uploadTokenDefinition } from '../definitions/cdi-definitions.js';
import { RESOURCES } from '../resources.js';
import type { DataVolume } from '../types/data-volume.js';
import type { World } from '../world.js';
import { DiskContents } from './disk-contents.js';
import { ExportDownloads } from './export-downloads.js';
import { ProxyServer } from './proxy-server.js';
import { UploadTokens } from './upload-tokens.js';

const SERVICE = /^(?:https?:)?virt-export-([^:]+)(?::\w+)?$/;

/** Downloads and uploads of disks: through the API server's own service proxy, and through the proxies beside it. */
export function registerProxies(
  world: World,
  dataVolumes: DataVolumeController,
): { exports: ExportController; close: () => void } {
  const contents = new DiskContents(world);
  const downloads = new ExportDownloads(world, contents);
  const tokens = new UploadTokens(world);
  const server = new ProxyServer(world, downloads, tokens, contents, (key) => dataVolumes.completeUpload(key));
  serveServiceProxy(world, downloads);
  if (!world.without.has('cdi')) {
    serveUploadTokens(world, tokens);
    announceUploadProxy(world, server);
  }
  return { exports: new ExportController(world, (opened) => server.url(opened)), close: () => server.close() };
}

function serveServiceProxy(world: World, downloads: ExportDownloads): void {
  world.subresources.handle({ group: '', resource: 'services', subresource: 'proxy' }, ['GET', 'HEAD'], (request) => {
    const exportName = SERVICE.exec(request.name)?.[1];
    if (!exportName) throw badRequest(`no endpoints available for service "${request.name}"`);
    const { method, namespace = '', query, headers, rest } = request;
    return downloads.answer({ method, namespace, exportName, path: `/${rest.join('/')}`, query, headers });
  });
}

function serveUploadTokens(world: World, tokens: UploadTokens): void {
  world.registry.register({
    ...uploadTokenDefinition(),
    answerCreate: (object) => {
      const request = object as KubeObject & { spec?: { pvcName?: string }; status?: { token: string } };
      const { namespace = '' } = request.metadata;
      const name = request.spec?.pvcName ?? '';
      world.store.require(RESOURCES.claim, { namespace, name });
      return { ...request, status: { token: tokens.issue(namespace, name) } } as KubeObject;
    },
  });
}

/** The upload proxy has an address from the moment an upload waits for one. */
function announceUploadProxy(world: World, server: ProxyServer): void {
  const announce = (): void => {
    const uploadProxyURL = server.url(announce);
    if (!uploadProxyURL || !world.find(RESOURCES.cdiConfig, undefined, 'config')) return;
    world.store.patch<KubeObject & { status?: object }>(RESOURCES.cdiConfig, { name: 'config' }, (draft) => {
      draft.status = { ...draft.status, uploadProxyURL };
    });
  };
  world.store.subscribe(RESOURCES.dataVolume, ({ object }) => {
    if ((object as DataVolume).spec.source?.upload) announce();
  });
}
