export default { displayName: 'homeserver-limits', preset: '../../jest.preset.js' };
