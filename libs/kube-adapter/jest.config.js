export default { displayName: 'kube-adapter', preset: '../../jest.preset.js' };
