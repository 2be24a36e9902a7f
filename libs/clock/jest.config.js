export default { displayName: 'clock', preset: '../../jest.preset.js' };
