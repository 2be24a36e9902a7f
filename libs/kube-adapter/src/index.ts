export { readKubeconfigContexts, type KubeconfigContext, type KubeconfigSource } from './api/kubeconfig-source.js';
export { dataClaim } from './containers/container-manifest.js';
export { KubeBackend, type KubeBackendSettings } from './kube-backend.js';
export { TAG_PREFIX } from './labels.js';
export { RBAC_RULES, type RbacRule } from './rbac.js';
export { clusterAnswers } from './api/cluster-answers.js';
