export default { displayName: 'homeserver-limits-e2e', preset: '../../jest.preset.js' };
