export default { displayName: 'kube-sandbox', preset: '../../jest.preset.js' };
