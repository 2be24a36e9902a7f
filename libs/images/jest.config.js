export default { displayName: 'images', preset: '../../jest.preset.js' };
