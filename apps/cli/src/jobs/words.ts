/**
 * Words that the commands about jobs know. Written out, so that help and completion need not load the engine; a test holds them equal to it.
 */
export const jobStates = ['scheduled', 'ready', 'running', 'paused', 'succeeded', 'failed', 'canceled'] as const
export const bulkActions = ['retry', 'cancel', 'discard'] as const
