#include "doctor.h"
const struct doctor_step doctor_process_steps[] = { { 0 } };
const struct doctor_step doctor_dotnet_steps[] = { { 0 } };
