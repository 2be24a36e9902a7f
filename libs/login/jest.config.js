export default { displayName: 'login', preset: '../../jest.preset.js' };
