export default { displayName: 'acme', preset: '../../jest.preset.js' };
