export default { displayName: '__name__', preset: '../../jest.preset.js' };
