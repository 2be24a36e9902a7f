export default { displayName: 'history', preset: '../../jest.preset.js' };
