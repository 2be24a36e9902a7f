import { Watch } from '@kubernetes/client-node';

const PATH = '/apis/kubevirt.io/v1/virtualmachineinstances';

/**
 * Watches the VM instances of all namespaces, and reports each one that begins to run.
 * @param {import('@kubernetes/client-node').KubeConfig} kubeConfig
 * @param {(name: string) => void} onRunning
 * @returns {Promise<AbortController>} ends the watch
 */
export async function watchStarts(kubeConfig, onRunning) {
  const running = new Set();
  const onEvent = (type, { metadata, status }) => {
    const { name } = metadata;
    if (type === 'DELETED' || status?.phase !== 'Running') return void running.delete(name);
    if (!running.has(name)) onRunning(name);
    running.add(name);
  };
  return new Watch(kubeConfig).watch(PATH, {}, onEvent, () => undefined);
}
