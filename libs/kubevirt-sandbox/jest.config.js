export default { displayName: 'kubevirt-sandbox', preset: '../../jest.preset.js' };
