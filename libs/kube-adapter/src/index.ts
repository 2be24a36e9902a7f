export { isClusterReachable, type ReachabilityQuery } from './api/is-cluster-reachable.js';
export { readKubeconfigContexts, type KubeconfigContext, type KubeconfigSource } from './api/kubeconfig-source.js';
export { KUBEVIRT_TRAITS } from './kubevirt-traits.js';
export { KubeBackend, type KubeBackendOptions } from './kube-backend.js';
export { RBAC_RULES, type RbacRule } from './rbac.js';
export { dataClaim } from './containers/container-manifest.js';
export { TAG_PREFIX } from './labels.js';
