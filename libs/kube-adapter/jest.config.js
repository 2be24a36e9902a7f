export default { displayName: 'kube-adapter', preset: '../../jest.preset.js', testTimeout: 30_000 };
