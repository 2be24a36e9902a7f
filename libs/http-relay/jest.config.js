export default { displayName: 'http-relay', preset: '../../jest.preset.js' };
