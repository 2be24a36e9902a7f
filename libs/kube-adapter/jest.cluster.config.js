// The contract suites on the cluster of HEADGATE_TEST_KUBECONFIG: npm run test:cluster.
import base from './jest.config.js';

export default {
  ...base,
  displayName: 'kube-adapter on a cluster',
  testMatch: ['<rootDir>/src/kube-backend-cluster.contract.ts'],
  reporters: ['default'],
};
