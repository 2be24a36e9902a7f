export default { displayName: 'plugins', preset: '../../jest.preset.js' };
