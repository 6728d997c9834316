using System.Runtime.InteropServices;

namespace Tracerd.Managed
{
    /// <summary>The few libc calls the programs need to know their own truth.</summary>
    internal static class Native
    {
        private const long GettidX64 = 186;
        private const long GettidArm64 = 178;

        /// <summary>The kernel's id of the calling thread.</summary>
        public static int CurrentTid =>
            (int)syscall(RuntimeInformation.ProcessArchitecture == Architecture.Arm64 ? GettidArm64 : GettidX64);

        [DllImport("libc")]
        private static extern long syscall(long number);

        [DllImport("libc")]
        public static extern int fork();

        [DllImport("libc")]
        public static extern void _exit(int status);

        [DllImport("libc")]
        public static extern int waitpid(int pid, out int status, int options);

        [DllImport("libc")]
        public static extern int kill(int pid, int signal);
    }
}
