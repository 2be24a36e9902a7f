export default { displayName: 'moves', preset: '../../jest.preset.js' };
