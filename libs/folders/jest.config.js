export default { displayName: 'folders', preset: '../../jest.preset.js' };
