export default { displayName: 'sqlite', preset: '../../jest.preset.js' };
