/**
 * @param clientBaseUrl without a slash at its end; from the configuration and never from a request, which may lie
 * @returns the link by which someone gets a new password
 */
export function passwordResetUrl(clientBaseUrl: string, secret: string): string {
  return `${clientBaseUrl}/reset-password?token=${secret}`;
}
