export default { displayName: 'fleet', preset: '../../jest.preset.js' };
