"""What one submission may cost."""

from pydantic import BaseModel, ConfigDict, Field


class Limits(BaseModel):
    """The limits of one submission; all its processes together, the one that answers its questions included, share them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    call_seconds: float = Field(
        default=4, gt=0, description="processor time of one call, besides what its questions take"
    )
    submission_seconds: float = Field(default=60, gt=0, description="processor time of all calls")
    wall_factor: float = Field(default=8, ge=1, description="wall-clock time allowed for a second of processor time")
    memory_mb: int = Field(default=512, ge=128, description="memory of all processes of a submission")
    message_mb: int = Field(default=8, ge=1, description="one message over the wire")
    disk_mb: int = Field(default=16, ge=1, description="the temporary folder of one process")
    processes: int = Field(
        default=128,
        ge=1,
        description="threads of the student's process; one that has ended counts until the kernel is done with it",
    )
    open_files: int = Field(default=64, ge=16)
    repairs: int = Field(
        default=3000,
        ge=0,
        description="edited versions of wrong functions that are tried where no known mistake explains them",
    )
    upload_files: int = Field(default=500, ge=1, description="files in one submission")
    upload_mb: int = Field(default=20, ge=1, description="unpacked size of one submission")
