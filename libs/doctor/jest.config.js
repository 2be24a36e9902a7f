export default { displayName: 'doctor', preset: '../../jest.preset.js' };
