export default { displayName: 'incus-adapter', preset: '../../jest.preset.js' };
