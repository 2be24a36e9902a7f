import { badRequest, type KubeObject } from '@headgate/kube-sandbox';
import { ExportController } from '../controllers/snapshots/export-controller.js';
import type { DataVolumeController } from '../controllers/storage/data-volume-controller.js';
import { uploadTokenDefinition } from '../definitions/cdi-definitions.js';
import { RESOURCES } from '../resources.js';
import type { DataVolume } from '../types/data-volume.js';
import type { SimulationContext } from '../simulation-context.js';
import type { DiskContents } from './disk-contents.js';
import { ExportDownloads } from './export-downloads.js';
import { ProxyServer } from './proxy-server.js';
import { UploadTokens } from './upload-tokens.js';

const SERVICE = /^(?:https?:)?virt-export-([^:]+)(?::\w+)?$/;

/** Downloads and uploads of disks, through the API server's own service proxy and through the separate proxies. */
export function registerProxies(
  context: SimulationContext,
  dataVolumes: DataVolumeController,
  contents: DiskContents,
): { exports: ExportController; close: () => void } {
  const downloads = new ExportDownloads(context, contents);
  const tokens = new UploadTokens(context);
  const server = new ProxyServer(context, downloads, tokens, contents, (key) => dataVolumes.completeUpload(key));
  serveServiceProxy(context, downloads);
  if (!context.without.has('cdi')) {
    serveUploadTokens(context, tokens);
    announceUploadProxy(context, server);
  }
  return { exports: new ExportController(context, (opened) => server.url(opened)), close: () => server.close() };
}

function serveServiceProxy(context: SimulationContext, downloads: ExportDownloads): void {
  context.subresources.handle({ group: '', resource: 'services', subresource: 'proxy' }, ['GET', 'HEAD'], (request) => {
    const exportName = SERVICE.exec(request.name)?.[1];
    if (!exportName) throw badRequest(`no endpoints available for service "${request.name}"`);
    const { method, namespace = '', query, headers, rest } = request;
    return downloads.answer({ method, namespace, exportName, path: `/${rest.join('/')}`, query, headers });
  });
}

function serveUploadTokens(context: SimulationContext, tokens: UploadTokens): void {
  context.registry.register({
    ...uploadTokenDefinition(),
    handleCreate: (object) => {
      const request = object as KubeObject & { spec?: { pvcName?: string }; status?: { token: string } };
      const { namespace = '' } = request.metadata;
      const name = request.spec?.pvcName ?? '';
      context.store.require(RESOURCES.claim, { namespace, name });
      return { ...request, status: { token: tokens.issue(namespace, name) } } as KubeObject;
    },
  });
}

/** The upload proxy gets an address when the first upload waits for one. */
function announceUploadProxy(context: SimulationContext, server: ProxyServer): void {
  const announce = (): void => {
    const uploadProxyURL = server.url(announce);
    if (!uploadProxyURL || !context.find(RESOURCES.cdiConfig, undefined, 'config')) return;
    context.store.patch<KubeObject & { status?: object }>(RESOURCES.cdiConfig, { name: 'config' }, (draft) => {
      draft.status = { ...draft.status, uploadProxyURL };
    });
  };
  context.store.subscribe(
    RESOURCES.dataVolume,
    ({ object }) => {
      if ((object as DataVolume).spec.source?.upload) announce();
    },
    { atRest: 'never' },
  );
}
