export default { displayName: 'limits-nest', preset: '../../jest.preset.js' };
