export default { displayName: 'embedded-homeserver', preset: '../../jest.preset.js' };
