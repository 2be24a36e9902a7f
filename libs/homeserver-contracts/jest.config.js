export default { displayName: 'homeserver-contracts', preset: '../../jest.preset.js' };
