import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RealApiServer } from '@headgate/testing';
import { parse } from 'yaml';

const DEPLOY = join(import.meta.dirname, '../../../../../deploy');
const ACCOUNT = 'headgate-vm-service';
const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const POLL_MS = 50;

const manifest = <T = object>(path: string): T => parse(readFileSync(join(DEPLOY, path), 'utf8')) as T;

/** A real API server with a namespace for the store, as the manifests install it. */
export async function openRealStore(namespace: string) {
  const server = await RealApiServer.start();
  const { resources } = manifest<{ resources: string[] }>('vm-service/crds/kustomization.yaml');
  const plurals: string[] = [];
  for (const file of resources) {
    const definition = manifest<{ spec: { names: { plural: string } } }>(`vm-service/crds/${file}`);
    await server.create(CRDS, definition);
    plurals.push(definition.spec.names.plural);
  }
  await server.createNamespace(namespace);
  const token = await server.createServiceAccount(namespace, ACCOUNT);
  await server.create(`${RBAC}/${namespace}/roles`, manifest('replicas/role.yaml'));
  await server.create(`${RBAC}/${namespace}/rolebindings`, manifest('replicas/role-binding.yaml'));
  const isServed = async (plural: string): Promise<boolean> =>
    (await server.send('GET', `/apis/svc.dev/v1/namespaces/${namespace}/${plural}`)).status === 200;
  for (const plural of plurals)
    while (!(await isServed(plural))) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  return { kubeconfig: server.kubeconfig(token), close: () => server.close() };
}
