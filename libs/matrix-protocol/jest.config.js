export default { displayName: 'matrix-protocol', preset: '../../jest.preset.js' };
